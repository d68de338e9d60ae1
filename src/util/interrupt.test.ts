import { describe, expect, it } from 'vitest'
import { Interrupt } from './interrupt.ts'

describe('Interrupt', () => {
  it('fires once, and calls later listeners immediately (1)', () => {
    const heard: string[] = []
    const interrupt = new Interrupt()
    interrupt.listen(() => heard.push('early'))
    const { signal } = interrupt
    interrupt.fire('first')
    interrupt.fire('second')
    interrupt.listen(() => heard.push('late'))
    expect({ heard, reason: interrupt.reason, aborted: signal.aborted, cause: String(signal.reason) }).toEqual({
      heard: ['early', 'late'],
      reason: 'first',
      aborted: true,
      cause: 'Error: first',
    })
  })

  it('gives an aborted signal when asked for it afterwards', () => {
    const interrupt = new Interrupt()
    interrupt.fire('over')
    expect(interrupt.signal.aborted).toBe(true)
  })

  it('fires children with their parent, unless they were closed, and never the other way round (2)', () => {
    const parent = new Interrupt()
    const children = Array.from({ length: 5 }, () => new Interrupt(parent))
    children[1]?.close()
    children[3]?.close()
    children[3]?.close()
    children[4]?.fire('own')
    expect(parent.reason).toBeUndefined()
    parent.fire('all')
    expect(children.map((child) => child.reason)).toEqual(['all', undefined, 'all', undefined, 'own'])
    expect(new Interrupt(parent).reason).toBe('all')
  })
})
