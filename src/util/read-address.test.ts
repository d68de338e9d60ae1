import { describe, expect, test } from 'vitest'
import { displayAddress, parseHttpAddress } from './read-address.ts'

describe('an address', () => {
  test.each<[written: string, shown: string, isAsWritten: boolean]>([
    ['https://models.example.org/v1', 'https://models.example.org/v1', true],
    ['https://models.example.org/v1/', 'https://models.example.org/v1/', true],
    ['https://models.example.org', 'https://models.example.org/', true],
    ['HTTPS://Models.Example.org/V1', 'https://models.example.org/V1', true],
    ['http://127.0.0.1:11434/v1', 'http://127.0.0.1:11434/v1', true],
    ['http://[::1]:4000', 'http://[::1]:4000/', true],
    ['http://[0:0:0:0:0:0:0:1]/v1', 'http://[::1]/v1', true],
    ['https://models.example.org:443/v1', 'https://models.example.org/v1', true],
    ['http://localhost:80/v1', 'http://localhost/v1', true],
    ['http://localhost:443/v1', 'http://localhost:443/v1', true],
    ['https://müller.example/v1', 'https://xn--mller-kva.example/v1', true],
    ['https://аpi.example.org', 'https://xn--pi-6kc.example.org/', true],
    ['https://api.example.org/../modèles/v1', 'https://api.example.org/mod%C3%A8les/v1', true],
    ['http://127.0.0.1:9911\\@api.example.org/v1', 'http://127.0.0.1:9911/@api.example.org/v1', false],
    ['http:\\\\evil.example\\@api.example.org', 'http://evil.example/@api.example.org', false],
    ['http:/evil.example', 'http://evil.example/', false],
    ['http:evil.example', 'http://evil.example/', false],
    ['https:///evil.example', 'https://evil.example/', false],
    ['https://api.example.org\t.evil.example', 'https://api.example.org.evil.example/', false],
    ['http://2130706433/v1', 'http://127.0.0.1/v1', false],
    ['http://0x7f.1/v1', 'http://127.0.0.1/v1', false],
    [' https://api.example.org', 'https://api.example.org/', false],
    ['https://api.example.org/v1 ', 'https://api.example.org/v1', false],
    ['https://api%2eexample.org', 'https://api.example.org/', false],
    ['https://me:word@evil.example/v1', 'https://[redacted]@evil.example/v1', true],
  ])('is shown as it is read: %s', (written, shown, isAsWritten) => {
    const read = parseHttpAddress(written)
    expect(read && displayAddress(read)).toBe(shown)
    expect(read?.isAsWritten).toBe(isAsWritten)
  })

  test.each(['', 'api.example.org', 'file:///etc', 'ftp://example.org', 'https://'])('is none: %s', (written) =>
    expect(parseHttpAddress(written)).toBeUndefined(),
  )
})
