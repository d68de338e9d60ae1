import { describe, expect, test } from 'vitest'
import { canMatchPrefix, parseGlob } from './glob.ts'

describe('whether a pattern can fit something that begins like this', () => {
  test.each([
    ['/w/secrets/*', '/w/'],
    ['/w/secrets/*', '/w/secrets/'],
    ['/w/secrets/*', '/w/secrets/deep/'],
    ['/w/secrets/a', '/w/'],
    ['*.pem', '/w/'],
    ['*', '/w/'],
    ['/w*x', '/w/secrets/'],
    ['secrets/*', ''],
  ])('%j can below %j', (pattern, start) => expect(canMatchPrefix(parseGlob(pattern), start)).toBe(true))

  test.each([
    ['/w/secrets/*', '/w/src/'],
    ['/w/secrets', '/w/secrets/'],
    ['/w', '/w/'],
    ['/etc/*', '/w/'],
    ['/wide/*', '/w/'],
    ['secrets/*', 'src/'],
  ])('%j cannot below %j', (pattern, start) => expect(canMatchPrefix(parseGlob(pattern), start)).toBe(false))
})
