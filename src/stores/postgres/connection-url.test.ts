import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { connectionOf } from './connection-url.ts'

it('reads the parts of a URL, and names it without its password', () => {
  expect(connectionOf('postgres://ann%40x:p%2Fw@[::1]:5433/my%20db?application_name=mine')).toEqual({
    config: { host: '::1', port: 5433, user: 'ann@x', password: 'p/w', database: 'my db', ssl: false, application_name: 'mine' },
    place: 'postgres://[::1]:5433/my%20db',
  })
  expect(connectionOf('postgresql:///db?host=/var/run/postgresql').config).toEqual({
    ...{ host: '/var/run/postgresql', database: 'db', ssl: false, application_name: 'troupe' },
  })
})

it('verifies certificates as sslmode says', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-tls-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'ca.pem')
  await writeFile(file, 'a certificate')
  const tls = (parameters: string) => {
    const { ssl } = connectionOf(`postgres://db/x?${parameters}`).config
    if (ssl === false) return 'none'
    return { ca: ssl.ca, isVerified: ssl.rejectUnauthorized, checksHost: ssl.checkServerIdentity === undefined }
  }
  expect(tls('sslmode=disable')).toBe('none')
  expect(tls('sslmode=require')).toEqual({ ca: undefined, isVerified: false, checksHost: false })
  expect(tls(`sslmode=require&sslrootcert=${file}`)).toEqual({ ca: 'a certificate', isVerified: true, checksHost: false })
  expect(tls('sslmode=verify-ca')).toEqual({ ca: undefined, isVerified: true, checksHost: false })
  expect(tls('sslmode=verify-full')).toEqual({ ca: undefined, isVerified: true, checksHost: true })
})
