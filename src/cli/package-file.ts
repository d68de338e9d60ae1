import { readFile } from 'node:fs/promises'

/** A file of this package. The path is the same from `src/cli` and from `dist/cli`. */
export const packageFile = (path: string): URL => new URL(`../../${path}`, import.meta.url)

export async function packageVersion(): Promise<string> {
  const manifest: { readonly version: string } = JSON.parse(await readFile(packageFile('package.json'), 'utf8'))
  return manifest.version
}
