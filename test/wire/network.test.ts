import { describe, expect, it } from 'vitest'
import { type GatedRequest, gatedServer } from '../../src/testing/index.ts'
import { formats } from './formats.ts'
import { answering, expectFailure, key, server, turn, turnOver } from './turn.ts'

/** An address on this machine that nobody listens on. */
async function deserted(): Promise<string> {
  const { url, close } = await gatedServer()
  await close()
  return url
}

describe.each(formats)('$name', (format) => {
  it('no server listens: a failure of the network that names the address', async () => {
    const url = await deserted()
    const result = await turn(format, { url })
    expectFailure(result, 'network')
    expect(`${result.outcome.failure?.message} ${result.outcome.failure?.remedy}`).toContain(new URL(url).host)
  })

  it('a host that does not exist: a failure of the network that names it', async () => {
    const result = await turn(format, { url: 'http://troupe-test.invalid' })
    expectFailure(result, 'network')
    expect(`${result.outcome.failure?.message} ${result.outcome.failure?.remedy}`).toContain('troupe-test.invalid')
  })

  it('https against a port that speaks http: a failure of the network', async () => {
    const { url, requests } = await server()
    expectFailure(await turn(format, { url: url.replace('http:', 'https:') }), 'network')
    expect(requests).toEqual([])
  })

  it('cut before its head: a failure of the network', async () => {
    const { url, reply } = await server()
    const exchange = reply({ headHeld: true })
    const running = turn(format, { url })
    await exchange.arrived()
    exchange.cut()
    expectFailure(await running, 'network')
  })

  it.each([307, 308])('%i to another path of the same origin is followed, or refused', async (status) => {
    const { url, reply, requests } = await server()
    reply({ status, headers: { location: '/elsewhere' } })
    reply({ chunks: format.encode(answering) })
    const result = await turn(format, { url })
    if (result.outcome.status !== 'completed') return expectFailure(result, /^(?:network|config|invalid_response)$/)
    expect(requests).toMatchObject([{ method: 'POST' }, { method: 'POST', path: '/elsewhere', body: requests[0]?.body }])
  })

  it.each([301, 302, 303, 307, 308])('%i to another origin: the key does not go there', async (status) => {
    const [here, there] = [await server(), await server()]
    here.reply({ status, headers: { location: `${there.url}/v1/chat/completions?then=${status}` } })
    there.reply({ chunks: format.encode(answering) })
    const result = await turn(format, { url: here.url })
    expect(here.requests).toHaveLength(1)
    expect(carriesKey(here.requests)).toBe(true)
    expect(carriesKey(there.requests)).toBe(false)
    if (result.outcome.status !== 'completed') expectFailure(result, /^(?:network|config|auth|invalid_response)$/)
  })

  it('redirected in a circle: a typed failure, soon', async () => {
    const { url, reply, requests } = await server()
    for (let i = 0; i < 40; i += 1) reply({ status: 307, headers: { location: '/again' } })
    expectFailure(await turn(format, { url }), /^(?:network|config|invalid_response)$/)
    expect(requests.length).toBeLessThan(25)
  })

  it('redirected to nowhere: a typed failure', async () => {
    expectFailure(await turnOver(format, [{ status: 307, headers: { location: 'http://' } }]), /^(?:network|config|invalid_response)$/)
  })
})

const carriesKey = (requests: readonly GatedRequest[]): boolean => JSON.stringify(requests).includes(key)
