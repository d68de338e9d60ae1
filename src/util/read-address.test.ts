import { describe, expect, test } from 'vitest'
import { readAddress, shownAddress } from './read-address.ts'

describe('an address', () => {
  test.each([
    'https://models.example.org/v1',
    'https://models.example.org/v1/',
    'https://models.example.org',
    'HTTPS://Models.Example.org/V1',
    'http://127.0.0.1:11434/v1',
    'http://[::1]:4000',
  ])('is as it is written: %s', (written) => expect(readAddress(written)?.isAsWritten).toBe(true))

  test.each([
    ['http://127.0.0.1:9911\\@api.example.org/v1', 'http://127.0.0.1:9911/@api.example.org/v1'],
    ['http:\\\\evil.example\\@api.example.org', 'http://evil.example/@api.example.org'],
    ['http:/evil.example', 'http://evil.example/'],
    ['https://api.example.org\t.evil.example', 'https://api.example.org.evil.example/'],
    ['https://api.example.org/../v1', 'https://api.example.org/v1'],
    ['https://аpi.example.org', 'https://xn--pi-6kc.example.org/'],
    ['https://me:word@evil.example/v1', 'https://[redacted]@evil.example/v1'],
    ['http://2130706433/v1', 'http://127.0.0.1/v1'],
    [' https://api.example.org', 'https://api.example.org/'],
    ['https://api%2eexample.org', 'https://api.example.org/'],
  ])('is shown as it is read: %s', (written, shown) => {
    const read = readAddress(written)
    expect(read && shownAddress(read)).toBe(shown)
    if (!shown.includes('[redacted]')) expect(read?.isAsWritten).toBe(false)
  })

  test.each(['', 'api.example.org', 'file:///etc', 'ftp://example.org', 'https://'])('is none: %s', (written) =>
    expect(readAddress(written)).toBeUndefined(),
  )
})
