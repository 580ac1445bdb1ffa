/** How long a browser may take until it reads what it downloads. */
const DOWNLOAD_MS = 60_000;

/** Has the browser save a text as a file. */
export function download(name: string, text: string, type: string): void {
  const href = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), DOWNLOAD_MS);
}
