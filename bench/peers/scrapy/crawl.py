"""Crawls the sites of a file of root URLs with Scrapy, and keeps what a page says.

    python crawl.py SEEDS OUTPUT.jsonl
"""

import sys

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor


class Pages(scrapy.Spider):
    name = "pages"
    links = LinkExtractor(deny_extensions=[])

    def parse(self, response):
        links = self.links.extract_links(response)
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "text": response.xpath("string(//body)").get(),
            "links": [link.url for link in links],
        }
        yield from response.follow_all(links)


# https://docs.scrapy.org/en/latest/topics/optimize.html, with ROBOTSTXT_OBEY as in
# the project that `scrapy startproject` makes.
SETTINGS = {
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "CONCURRENT_REQUESTS": 100,
    "COOKIES_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "LOG_LEVEL": "INFO",
    "REDIRECT_ENABLED": False,
    "RETRY_ENABLED": False,
    "ROBOTSTXT_OBEY": True,
    "TELNETCONSOLE_ENABLED": False,
}

if __name__ == "__main__":
    seeds, output = sys.argv[1:]
    process = CrawlerProcess({**SETTINGS, "FEEDS": {output: {"format": "jsonlines"}}})
    with open(seeds) as file:
        process.crawl(Pages, start_urls=file.read().split())
    process.start()
