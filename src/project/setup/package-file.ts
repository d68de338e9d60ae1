/** Whether this is the code that the build made, and not the sources. */
export const isBuilt = (): boolean => import.meta.url.endsWith('.js')

/** The build puts its parts into folders of `dist`. */
const root = new URL(isBuilt() ? '../../' : '../../../', import.meta.url)

/** A file of this package. */
export const packageFile = (path: string): URL => new URL(path, root)
