// Crawls the sites of a file of root URLs with Crawlee's crawler for plain HTTP, and
// keeps what a page says:
//
//     node crawl.js disk SEEDS FOLDER           queue and data set in files, as by default
//     node crawl.js memory SEEDS OUTPUT.json    both in memory until the end
import { readFile } from 'node:fs/promises';

import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio';

const [place, seeds, output] = process.argv.slice(2);
log.setLevel(log.LEVELS.WARNING);
const configuration = place === 'memory'
    ? new Configuration({ persistStorage: false })
    : new Configuration({ storageClientOptions: { localDataDirectory: output } });

// https://crawlee.dev/js/docs/guides/scaling-crawlers recommends the defaults: up to
// 200 requests at a time, as the machine permits.
const crawler = new CheerioCrawler({
    async requestHandler({ request, $, enqueueLinks, pushData }) {
        const links = $('a[href]').map((_, a) => new URL($(a).attr('href'), request.loadedUrl).href).get();
        await pushData({ url: request.loadedUrl, title: $('title').text(), text: $('body').text(), links });
        await enqueueLinks({ strategy: 'all' });
    },
}, configuration);

await crawler.run((await readFile(seeds, 'utf8')).split('\n').filter(Boolean));
if (place === 'memory') await crawler.exportData(output);
