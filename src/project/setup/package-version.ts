import { readFile } from 'node:fs/promises'
import { packageFile } from './package-file.ts'

export async function packageVersion(): Promise<string> {
  const manifest: { readonly version: string } = JSON.parse(await readFile(packageFile('package.json'), 'utf8'))
  return manifest.version
}
