/** The time that a browser has to read a download. */
const DOWNLOAD_MS = 60_000;

/** Makes the browser save a text as a file. */
export function download(name: string, text: string, type: string): void {
  const href = URL.createObjectURL(new Blob([text], { type }));
  Object.assign(document.createElement('a'), { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), DOWNLOAD_MS);
}
