import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modelSources } from '../../src/models/by-name/model-sources.ts'
import { knownProviders } from '../../src/models/known-providers.ts'
import { modelsPage } from './reference-page.ts'

const path = join(import.meta.dirname, '..', '..', 'docs', 'reference', 'models.md')

// To write it anew: TROUPE_WRITE=1 npx vitest run test/models/reference.test.ts
test('docs/reference/models.md says what the code says', () => {
  if (process.env.TROUPE_WRITE) writeFileSync(path, modelsPage)
  expect(existsSync(path) && readFileSync(path, 'utf8')).toBe(modelsPage)
})

test('the reference names every source, key and address', () => {
  for (const name of Object.keys(modelSources)) expect(modelsPage).toMatch(new RegExp(`^\\| \`${name}(?:/<\\w+>)?\` \\|`, 'm'))
  for (const { keys, urlVariables, home } of Object.values(knownProviders))
    for (const word of [...keys, ...urlVariables, home]) expect(modelsPage).toContain(`\`${word}\``)
})
