// Crawls the sites of a file of root URLs with Crawlee's crawler for plain HTTP, and
// keeps what a page says in a data set, a file for each page:
//
//     node crawl.js SEEDS FOLDER
import { readFile } from 'node:fs/promises';

import { CheerioCrawler, Configuration, log } from '@crawlee/cheerio';

const [seeds, folder] = process.argv.slice(2);
log.setLevel(log.LEVELS.WARNING);

// https://crawlee.dev/js/docs/guides/scaling-crawlers: the defaults scale up to 200
// requests at a time as the machine permits.
const crawler = new CheerioCrawler({
    async requestHandler({ request, $, enqueueLinks, pushData }) {
        const links = $('a[href]').map((_, a) => new URL($(a).attr('href'), request.loadedUrl).href).get();
        await pushData({ url: request.loadedUrl, title: $('title').text(), text: $('body').text(), links });
        await enqueueLinks({ strategy: 'all' });
    },
}, new Configuration({ storageClientOptions: { localDataDirectory: folder } }));

await crawler.run((await readFile(seeds, 'utf8')).split('\n').filter(Boolean));
