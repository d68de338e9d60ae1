/** A file of this package. The path is the same from `src/project` and from `dist/parts`, `dist/cli` and the like. */
export const packageFile = (path: string): URL => new URL(`../../${path}`, import.meta.url)

/** Whether this is the code that the build made, and not the sources. */
export const isBuilt = (): boolean => import.meta.url.endsWith('.js')
