import { BlockList, isIP, isIPv6 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isAddress, isPublicAddress } from './private-address.ts'

// What is public and what is not stands in test/tools/web-fetch/addresses.test.ts, and for commands in network-proxy.test.ts.

describe('an address', () => {
  it.each(['1.2.3.4', '::', '::1', '1::', '1:2:3:4:5:6:7:8', '::ffff:1.2.3.4', '1::2:3', 'fe80::1%eth0', 'ABCD::'])('is %j', (text) =>
    expect([isAddress(text), isIP(text) > 0]).toEqual([true, true]),
  )
  it.each([
    '',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    '1.2.3.4.',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '::1.2.3',
    '12345::',
    ':1',
    'x',
    '1.2.3.4::',
  ])('is not %j', (text) => expect([isAddress(text), isIP(text) > 0]).toEqual([false, false]))

  it('is what the system takes for one, however it is written', () => {
    const texts = fc.oneof(fc.ipV6(), fc.ipV4(), fc.string({ unit: fc.constantFrom(...'0123456789abcdef:.') }))
    fc.assert(
      fc.property(texts, (text) => {
        expect([text, isAddress(text)]).toEqual([text, isIP(text) > 0])
      }),
      { numRuns: 1000 },
    )
  })

  it('of version 6 is public only among those that are given out', () => {
    const given = new BlockList()
    given.addSubnet('2000::', 3, 'ipv6')
    fc.assert(
      fc.property(fc.ipV6(), (text) => {
        if (isIPv6(text) && isPublicAddress(text))
          expect(given.check(text, 'ipv6') || /^(?:0*:)*:?(?:ffff|0*64:ff9b)/i.test(text)).toBe(true)
      }),
    )
  })
})

it.each(['198.51.100.7', '203.0.113.1', '192.88.99.1', '2001:0:1::1', '2001:1ff::1'])('%s is for special use', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})
