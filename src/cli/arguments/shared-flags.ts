// Flags that several commands have in the same words.
import type { FlagSpec } from './command-specs.ts'

export const json: FlagSpec = { name: 'json', summary: 'Print one JSON document, even on failure' }
export const configFile: FlagSpec = { name: 'config', value: 'FILE', summary: 'Read this configuration file first', completes: 'file' }
export const dataDir: FlagSpec = {
  name: 'data-dir',
  value: 'DIR',
  summary: 'Use the data folder DIR (default: ~/.local/state/troupe)',
  completes: 'folder',
  excludes: ['store'],
}
export const store: FlagSpec = {
  name: 'store',
  value: 'URL',
  summary: 'Use the sessions at sqlite:DIR or postgres://HOST/NAME (or TROUPE_STORE)',
  excludes: ['data-dir'],
}
