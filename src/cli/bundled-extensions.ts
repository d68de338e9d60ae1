import { fileURLToPath } from 'node:url'
import { packageFile } from './package-file.ts'

/** The folder of the extensions that Troupe brings: their sources, or what the build makes of them. Absolute. */
export const bundledExtensions = (): string =>
  fileURLToPath(packageFile(import.meta.url.endsWith('.ts') ? 'extensions' : 'dist/extensions'))
