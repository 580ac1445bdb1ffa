/** A section of the documentation, which search can find. */
export interface Place {
  chapter: 'Guide' | 'API';
  page: string;
  /** Empty for the introduction of a page. */
  heading: string;
  /** The link, relative to the base URL of the API. */
  href: string;
  /** Words that readers search for and that the section does not contain. */
  keywords: string;
  text: string;
  /** Code, as readers paste it. No excerpt shows it. */
  code: string;
}
