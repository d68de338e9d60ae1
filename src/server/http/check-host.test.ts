import { expect, it } from 'vitest'
import { allowedOrigin, checkHostAndOrigin } from './check-host.ts'

const names = { hosts: ['127.0.0.1', '[::1]', 'localhost', 'Agents.example.com:8443'], origins: ['https://Chat.example.com'] }

const verdict = (headers: { [name: string]: string }): string => {
  try {
    checkHostAndOrigin(new Headers(headers), names)
    return 'allowed'
  } catch (error) {
    return (error as { kind: string }).kind
  }
}

it.each([
  ['127.0.0.1', 'allowed'],
  ['127.0.0.1:8080', 'allowed'],
  ['LOCALHOST:1', 'allowed'],
  ['[::1]:8080', 'allowed'],
  ['agents.example.com:8443', 'allowed'],
  ['agents.example.com', 'forbidden'],
  ['agents.example.com:80', 'forbidden'],
  ['127.0.0.1.evil.example', 'forbidden'],
  ['evil.example', 'forbidden'],
  ['localhost@evil.example', 'forbidden'],
  ['localhost:80:80', 'forbidden'],
  ['', 'forbidden'],
])('Host %s is %s', (host, expected) => {
  expect(verdict({ host })).toBe(expected)
})

it('refuses a request without Host', () => {
  expect(verdict({})).toBe('forbidden')
})

it.each([
  ['http://localhost:1234', 'allowed'],
  ['https://LOCALHOST:1234', 'allowed'],
  ['https://chat.example.com', 'allowed'],
  ['http://chat.example.com', 'forbidden'],
  ['https://chat.example.com.evil.example', 'forbidden'],
  ['http://localhost:9', 'forbidden'],
  ['null', 'forbidden'],
  ['', 'forbidden'],
])('Origin %s is %s', (origin, expected) => {
  expect(verdict({ host: 'localhost:1234', origin })).toBe(expected)
})

it('does not repeat a long name', () => {
  expect(() => checkHostAndOrigin(new Headers({ host: 'x'.repeat(5000) }), names)).toThrow(/^.{0,150}$/)
})

it('lets pages of the list read responses, and no others', () => {
  const origin = (value: string) => allowedOrigin(new Headers({ origin: value }), names)
  expect(origin('https://chat.example.com')).toBe('https://Chat.example.com')
  expect(origin('http://localhost:1234')).toBeUndefined()
  expect(allowedOrigin(new Headers(), names)).toBeUndefined()
})
