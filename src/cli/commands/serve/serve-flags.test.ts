import { expect, test } from 'vitest'
import { serverSettings } from '../../../server/index.ts'
import { serveFlags } from './serve-flags.ts'

const noFlags = { host: undefined, port: undefined, drain: undefined, hasLegacyTransports: false }

test('every key of the configuration is a setting', () => {
  const configured = {
    host: '::1',
    port: 4000,
    hosts: ['agents.example.com'],
    origins: ['https://chat.example.com'],
    maxBodyBytes: 2048,
    concurrency: { total: 1, perHeadend: 2, perAgent: 3, perToken: 4, queue: 5, queueMs: 6 },
    streams: { total: 8, perToken: 9 },
    drain: 7,
    legacyTransports: true,
  }
  expect(serverSettings({ ...configured, ...serveFlags(noFlags) })).toEqual({
    host: '::1',
    port: 4000,
    names: { hosts: ['127.0.0.1', 'localhost', '[::1]', 'agents.example.com'], origins: ['https://chat.example.com'] },
    hasHosts: true,
    maxBodyBytes: 2048,
    places: { total: 1, perHeadend: 2, perAgent: 3, perToken: 4, queue: 5, queueMs: 6 },
    streams: { total: 8, perToken: 9 },
    drainMs: 7,
    legacyTransports: true,
  })
})

test('flags win; without both there are defaults', () => {
  const flags = serveFlags({ host: '127.0.0.2', port: '0', drain: '5s', hasLegacyTransports: true })
  expect(serverSettings({ host: '::1', port: 1, drain: 1, ...flags })).toMatchObject({
    host: '127.0.0.2',
    port: 0,
    drainMs: 5_000,
    legacyTransports: true,
  })
  expect(serverSettings(serveFlags(noFlags))).toMatchObject({ host: '127.0.0.1', port: 3900, drainMs: 30_000, legacyTransports: false })
})

test('wrong values are reported together', () => {
  expect(() => serveFlags({ ...noFlags, port: '70000', drain: 'soon' })).toThrow(
    expect.objectContaining({ problems: [expect.objectContaining({ place: '--port' }), expect.objectContaining({ place: '--drain' })] }),
  )
})
