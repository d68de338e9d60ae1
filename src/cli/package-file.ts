/** A file of this package. The path is the same from `src/cli` and from `dist/cli`. */
export const packageFile = (path: string): URL => new URL(`../../${path}`, import.meta.url)
