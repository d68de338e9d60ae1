import { expect, test } from 'vitest'
import { sequentialIds } from './sequential-ids.ts'

test('each source counts for itself', () => {
  const ids = sequentialIds()
  expect([ids.next(), ids.next(), sequentialIds('tree').next()]).toEqual(['id-1', 'id-2', 'tree-1'])
})
