import { describe, expect, it } from 'vitest'
import type { ApprovalRule } from '../../../src/contracts/index.ts'
import { isGranted } from '../../../src/policy/grants.ts'
import { ruling } from '../../../src/steps/approval/rules.ts'
import { parseUrl } from '../../../src/tools/builtin/web-fetch/parse-url.ts'
import { webFetchTool } from '../../../src/tools/builtin/web-fetch/web-fetch.ts'
import { isPublicAddress } from '../../../src/util/private-address.ts'

describe('addresses', () => {
  it.each(['1.1.1.1', '93.184.216.34', '172.15.0.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:1.1.1.1', '64:ff9b::1.1.1.1'])(
    '%s is public',
    (address) => expect(isPublicAddress(address)).toBe(true),
  )
  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::127.0.0.1',
    '::ffff:10.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::1',
    '100::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'no address',
    '',
  ])('%s is not', (address) => expect(isPublicAddress(address)).toBe(false))
})

describe('targets', () => {
  it.each([
    ['https://example.com/a#b', 'https://example.com/a'],
    [' http://example.com:8080 ', 'http://example.com:8080/'],
  ])('%s is asked for as %s', (written, expected) => {
    const target = parseUrl(written)
    expect(target.ok && target.url.href).toBe(expected)
  })
  it.each([
    ['example.com', 'This is not a URL.'],
    ['', 'This is not a URL.'],
    ['ftp://example.com/', 'URLs that begin with ftp: cannot be fetched.'],
    ['javascript:alert(1)', 'URLs that begin with javascript: cannot be fetched.'],
    ['data:text/html,x', 'URLs that begin with data: cannot be fetched.'],
    ['https://user@example.com/', 'The URL contains a user name or password.'],
    ['https://:secret@example.com/', 'The URL contains a user name or password.'],
    ['http://example.com:25/', 'Port 25 is not allowed.'],
    [`https://example.com/${'x'.repeat(5_000)}`, 'The URL has more than 4096 characters.'],
  ])('%s is refused', (written, message) => {
    const target = parseUrl(written)
    expect(target.ok ? '' : target.failure.message).toBe(message)
    expect(target.ok ? '' : target.failure.remedy).toMatch(/\.$/)
  })
})

describe('approval', () => {
  const wish = async (url: string) => webFetchTool().approval?.({ url })
  const key = async (url: string): Promise<string> => (await wish(url))?.keys[0]?.key ?? ''

  it('is asked for a host, with its domain as the wider choice', async () => {
    expect(await wish('https://docs.example.com/page?q=1')).toEqual({
      summary: 'Fetch https://docs.example.com/page?q=1',
      keys: [
        {
          key: 'host:com.example.docs.',
          label: 'docs.example.com',
          use: 'docs.example.com',
          aliases: ['docs.example.com', 'www.docs.example.com', 'docs.example.com:443'],
        },
      ],
      wider: [
        { key: 'host:com.example.docs.', label: 'docs.example.com and its subdomains', isPrefix: true },
        { key: 'host:com.example.', label: 'example.com and its subdomains', isPrefix: true },
      ],
    })
  })

  it('a rule that denies or asks about a host is about every port and the same site; one that allows about the usual ports', async () => {
    const verdict = async (rule: ApprovalRule, url: string) =>
      ruling([{ rules: [rule] }], { names: ['web_fetch'], keys: (await wish(url))?.keys ?? [] })?.verdict
    const urls = ['http://evil.example/', 'http://evil.example:8080/', 'https://EVIL.example.:8443/', 'https://www.evil.example/']
    for (const url of urls) expect(await verdict({ deny: 'web_fetch(evil.example)' }, url), url).toBe('deny')
    expect(await verdict({ ask: 'web_fetch(127.0.0.1)' }, 'http://127.0.0.1:8080/')).toBe('ask')
    expect(await verdict({ deny: 'web_fetch(*:8080)' }, 'http://evil.example:8080/')).toBe('deny')
    expect(await verdict({ deny: 'web_fetch(evil.example)' }, 'https://docs.evil.example/')).toBeUndefined()
    expect(await Promise.all(urls.map((url) => verdict({ allow: 'web_fetch(evil.example)' }, url)))).toEqual([
      'allow',
      undefined,
      undefined,
      undefined,
    ])
  })

  it('for a domain covers what is below it, and nothing that only looks like it', async () => {
    const grants = [{ key: 'host:com.example.', label: '', isPrefix: true }]
    const covered = ['https://example.com/', 'http://www.example.com/', 'https://a.b.example.com:8443/', 'https://EXAMPLE.com./']
    const others = [
      'https://example.com.evil.net/',
      'https://example-x.com/',
      'https://examples.com/',
      'https://notexample.com/',
      'https://com/',
    ]
    for (const url of covered) expect(isGranted(grants, await key(url)), url).toBe(true)
    for (const url of others) expect(isGranted(grants, await key(url)), url).toBe(false)
  })

  it('for a host does not cover what is below it', async () => {
    const grants = [{ key: await key('https://example.com/'), label: '' }]
    expect(isGranted(grants, await key('https://www.example.com/'))).toBe(false)
    expect(isGranted(grants, await key('https://example.com:8443/'))).toBe(false)
    expect(isGranted(grants, await key('http://example.com/other'))).toBe(true)
  })

  it.each([
    ['https://shop.co.uk/', ['shop.co.uk']],
    ['https://me.github.io/', ['me.github.io']],
    ['https://example.com/', ['example.com']],
    ['https://a.b.example.org/', ['a.b.example.org', 'b.example.org']],
    ['https://192.0.2.1/', []],
    ['https://[2606:4700::1111]/', []],
    ['http://intranet/', []],
  ])('%s offers only what one owner has', async (url, expected) => {
    const labels = (await wish(url))?.wider?.map(({ label }) => label.replace(' and its subdomains', '')) ?? []
    expect(labels).toEqual(expected)
  })

  it('of a number names the number', async () => {
    expect([await key('http://1.1.1.1:8080/'), await key('https://[2606:4700::1111]/')]).toEqual([
      'host:[1.1.1.1]:8080',
      'host:[2606:4700::1111]',
    ])
  })

  it('is not asked for what cannot be fetched', async () => {
    expect(await wish('file:///etc/passwd')).toBeUndefined()
  })
})
