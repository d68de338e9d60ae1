import { describe, expect, test } from 'vitest'
import type { Tool } from '../../contracts/index.ts'
import { gate } from '../../testing/index.ts'
import type { OpenedExtension } from '../shared/kernel-types.ts'
import { foundExtension, testKernel } from './fixtures/test-kernel.ts'

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  description: name,
  inputSchema: { type: 'object', properties: {} },
  execute: () => `${name} done`,
  ...more,
})

describe('a sandboxed process', () => {
  function sandboxed(given: { readonly fails?: boolean } = {}) {
    const ends: ((reason: string) => void)[] = []
    let starts = 0
    const open = (): OpenedExtension => {
      if (given.fails && ends.length > 0) throw new Error('it does not start')
      const { promise, resolve } = Promise.withResolvers<string>()
      ends.push(resolve)
      const answer = `answer ${ends.length}`
      return {
        runs: 'sandbox',
        ended: promise,
        close: async () => {},
        instance: { getTools: () => [tool('ask', { execute: () => answer })], start: () => void starts++ },
      }
    }
    const kernel = testKernel(
      [foundExtension('box', {}, { trusted: false }), foundExtension('user', { agent: { usesTools: ['box'] } }), foundExtension('other')],
      { box: open },
    )
    return { kernel, ends, starts: () => starts, start: () => kernel.loader.load().then(() => kernel.loader.start()) }
  }

  test('that ends is started again, and its tools go to the new one', async () => {
    const { kernel, ends, start } = sandboxed()
    await start()
    const [ask] = kernel.loader.get('user')?.resolvedTools ?? []
    expect(await ask?.execute({}, {} as never)).toBe('answer 1')
    ends[0]?.('exit code 3')
    await kernel.clock.elapse(0)
    expect(kernel.loader.get('box')?.health).toEqual({ healthy: false, message: 'its process ended: exit code 3' })
    await kernel.clock.elapse(1_000)
    expect(await ask?.execute({}, {} as never)).toBe('answer 2')
    expect([kernel.state(), kernel.loader.get('box')?.health]).toEqual([{ box: 'running', user: 'running', other: 'running' }, undefined])
    expect(kernel.log.filter((line) => line.startsWith('box'))).toEqual([])
  })

  test('that ends again and again fails, with its dependents', async () => {
    const { kernel, ends, start } = sandboxed()
    await start()
    for (const delay of [1_000, 5_000, 25_000, 0]) {
      ends.at(-1)?.('killed')
      await kernel.clock.elapse(delay)
    }
    expect(ends.length).toBe(4)
    expect(kernel.state()).toEqual({ box: 'failed', user: 'failed', other: 'running' })
    expect(kernel.messages('box').at(-1)).toBe('its process ended: killed; restarted 3 times')
    expect(kernel.messages('user')).toEqual(['it needs `box`, which failed: its process ended: killed; restarted 3 times'])
  })

  test('that cannot be started again fails in the end', async () => {
    const { kernel, ends, start } = sandboxed({ fails: true })
    await start()
    ends[0]?.('x')
    await kernel.clock.elapse(30_999)
    expect(kernel.state().box).toBe('running')
    await kernel.clock.elapse(1)
    expect([kernel.state().box, kernel.messages('box').at(-1)]).toEqual([
      'failed',
      'its process ended: it does not start; restarted 3 times',
    ])
  })

  test('that ends between loading and start is started with the others', async () => {
    const { kernel, ends, starts } = sandboxed()
    await kernel.loader.load()
    ends[0]?.('x')
    await kernel.clock.elapse(0)
    await kernel.loader.start()
    await kernel.clock.elapse(1_000)
    expect([starts(), kernel.state()]).toEqual([1, { box: 'running', user: 'running', other: 'running' }])
  })

  test('is not restarted after the stop', async () => {
    const { kernel, ends, start } = sandboxed()
    await start()
    ends[0]?.('x')
    await kernel.clock.elapse(500)
    await kernel.loader.stop()
    expect([kernel.clock.pending, ends.length]).toEqual([0, 1])
  })

  test('that is being started again is ended by a stop', async () => {
    const opening = gate()
    const open: string[] = []
    const end = Promise.withResolvers<string>()
    const kernel = testKernel([foundExtension('box', {}, { trusted: false })], {
      box: async () => {
        const isFirst = open.length === 0
        open.push('opened')
        if (!isFirst) await opening.promise
        const ended = isFirst ? { ended: end.promise } : {}
        return { runs: 'sandbox', ...ended, close: async () => void open.push('closed'), instance: { sendToUser() {} } }
      },
    })
    await kernel.loader.load()
    await kernel.loader.start()
    end.resolve('exit code 1')
    await kernel.clock.elapse(1_000)
    await kernel.loader.stop()
    opening.open()
    await kernel.clock.elapse(0)
    expect([open, kernel.channels.size, kernel.clock.pending]).toEqual([['opened', 'closed', 'opened', 'closed'], 0, 0])
  })

  test('that is being started again fails with what it needs', async () => {
    const ends = [Promise.withResolvers<string>(), Promise.withResolvers<string>()]
    const process = (index: number) => (): OpenedExtension => {
      if (index === 0 && ends[0] && kernel.log.includes('broken')) throw new Error('it does not start')
      return { runs: 'sandbox', ended: ends[index]?.promise as Promise<string>, close: async () => {}, instance: {} }
    }
    const kernel = testKernel(
      [foundExtension('base', {}, { trusted: false }), foundExtension('user', { dependsOn: ['base'] }, { trusted: false })],
      { base: process(0), user: process(1) },
    )
    await kernel.loader.load()
    await kernel.loader.start()
    kernel.log.push('broken')
    ends[0]?.resolve('x')
    await kernel.clock.elapse(30_999)
    ends[1]?.resolve('y')
    await kernel.clock.elapse(1)
    expect(kernel.state()).toEqual({ base: 'failed', user: 'failed' })
    expect([kernel.messages('user').at(-1), kernel.clock.pending]).toEqual([expect.stringContaining('it needs `base`'), 1])
  })
})
