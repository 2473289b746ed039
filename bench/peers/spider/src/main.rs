//! Crawls the sites of a file of root URLs with spider, and keeps what it offers of a
//! page:
//!
//!     peer-spider SEEDS OUTPUT.jsonl

use std::fs::{File, read_to_string};
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex};

use spider::page::Page;
use spider::tokio;
use spider::website::Website;

// https://docs.rs/spider/2.53.9, "Performance: Global Allocator": for crawls that parse.
#[global_allocator]
static GLOBAL: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The pages that a subscriber may be behind before it loses some.
const BEHIND: usize = 4096;

type Output = Arc<Mutex<BufWriter<File>>>;

fn keep(page: &Page, output: &Output) -> std::io::Result<()> {
    let links: Vec<&str> = page.page_links.iter().flat_map(|links| links.iter()).map(|link| link.as_ref()).collect();
    let title = page.metadata.as_ref().and_then(|metadata| metadata.title.as_deref());
    let line = serde_json::json!({"url": page.get_url(), "title": title, "links": links, "html": page.get_html()});
    writeln!(output.lock().expect("no writer panics"), "{line}")
}

/// A website has one domain, so each seed is a website of its own.
async fn crawl(seed: String, output: Output) {
    let mut website = Website::new(&seed);
    website.with_return_page_links(true);
    let mut pages = website.subscribe(BEHIND);
    let keeper = tokio::spawn(async move {
        while let Ok(page) = pages.recv().await {
            keep(&page, &output).expect("write a page");
        }
    });
    website.crawl().await;
    website.unsubscribe();
    keeper.await.expect("keep the pages");
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let output = Arc::new(Mutex::new(BufWriter::new(File::create(&arguments[2])?)));
    let seeds = read_to_string(&arguments[1])?;
    let crawls: Vec<_> = seeds.lines().map(|seed| tokio::spawn(crawl(seed.to_owned(), output.clone()))).collect();
    for crawl in crawls {
        crawl.await.expect("crawl a website");
    }
    output.lock().expect("no writer panics").flush()
}
