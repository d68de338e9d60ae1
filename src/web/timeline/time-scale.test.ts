import { describe, expect, it } from 'vitest'
import { createScale, isSameScale, pan, positionOf, rangeOf, tickLabel, ticksOf, timeAt, viewOf, zoom } from './time-scale.ts'

const hour = 3_600_000

describe('a scale', () => {
  it('is linear where something ran, and shortens what nobody waited for', () => {
    const scale = createScale(
      [
        { from: hour + 2_000, to: hour + 4_000 },
        { from: 0, to: 1_000 },
        { from: 500, to: 2_000 },
      ],
      { from: 0, to: hour + 4_000 },
    )
    expect(scale.pieces.map(({ isBreak, from, to }) => [isBreak, from, to])).toEqual([
      [false, 0, 2_000],
      [true, 2_000, hour + 2_000],
      [false, hour + 2_000, hour + 4_000],
    ])
    expect(positionOf(scale, 1_000)).toBe(1_000)
    expect(scale.length).toBeCloseTo(4_200)
    expect(positionOf(scale, hour + 3_000)).toBeCloseTo(scale.length - 1_000)
    expect(positionOf(scale, 2 * hour)).toBe(scale.length)
    for (const time of [0, 700, 2_000, hour, hour + 2_500]) expect(timeAt(scale, positionOf(scale, time))).toBeCloseTo(time)
  })

  it('keeps gaps of up to two seconds, and of up to 15 % of the active time', () => {
    const breaks = (active: number, gap: number) =>
      createScale(
        [
          { from: 0, to: active / 2 },
          { from: active / 2 + gap, to: active + gap },
        ],
        { from: 0, to: active + gap },
      ).pieces.filter(({ isBreak }) => isBreak).length
    expect([breaks(100, 2_000), breaks(100, 2_001), breaks(100_000, 15_000), breaks(100_000, 15_001)]).toEqual([0, 1, 0, 1])
  })

  it('leaves at most a third to any number of breaks', () => {
    const runs = Array.from({ length: 200 }, (_, i) => ({ from: i * hour, to: i * hour + 1_000 }))
    const { pieces, length } = createScale(runs, { from: 0, to: 200 * hour })
    expect(pieces.filter(({ isBreak }) => isBreak)).toHaveLength(200)
    expect(length).toBeLessThan(200_000 * 1.31)
  })

  it('exists without work, without time, and for times of equal length', () => {
    expect(createScale([], { from: 5, to: 5 }).length).toBe(1)
    expect(positionOf(createScale([], { from: 5, to: 5 }), 5)).toBe(0)
    expect(createScale([{ from: 7, to: 7 }], { from: 7, to: 8 }).pieces).toHaveLength(1)
  })

  it('ends near what runs, and changes in steps', () => {
    const spansAt = (to: number) => [
      { from: 0, to: 1_000 },
      { from: hour, to },
    ]
    const scales = Array.from({ length: 100 }, (_, i) => {
      const to = hour + 1_000 + i * 50
      return { to, scale: createScale(spansAt(to), { from: 0, to }, true) }
    })
    for (const { to, scale } of scales) {
      expect(positionOf(scale, to) / scale.length).toBeGreaterThan(0.9)
      expect(positionOf(scale, to) / scale.length).toBeLessThan(1)
    }
    const changes = scales.filter(({ scale }, i) => i > 0 && !isSameScale(scale, scales[i - 1]!.scale))
    expect(changes.length).toBeLessThan(15)
  })
})

describe('a view', () => {
  const scale = createScale([{ from: 100, to: 1_100 }], { from: 100, to: 1_100 })

  it('zooms at a point, pans within the axis, and is none if it shows everything', () => {
    const near = zoom(scale, undefined, { by: 4, at: 0.5 })
    expect(near).toEqual({ from: 475, to: 725 })
    expect(pan(scale, near, 1)).toEqual({ from: 725, to: 975 })
    expect(pan(scale, near, 100)).toEqual({ from: 850, to: 1_100 })
    expect(pan(scale, undefined, 1)).toBeUndefined()
    expect(zoom(scale, near, { by: 0.01, at: 0.5 })).toBeUndefined()
    expect(viewOf(scale, 0, 1_000)).toBeUndefined()
  })

  it('never gets empty', () => {
    let view = zoom(scale, undefined, { by: 1e9, at: 1 })
    view = zoom(scale, view, { by: 1e9, at: 0 })
    const { from, to } = rangeOf(scale, view)
    expect(to - from).toBeCloseTo(1)
  })
})

describe('ticks', () => {
  it('are at round times', () => {
    const scale = createScale([{ from: 0, to: 1_400 }], { from: 0, to: 1_400 })
    expect(ticksOf(scale, { from: 0, to: 1_400 }, 160).map(({ label }) => label)).toEqual(['0', '500 ms', '1 s'])
    expect(ticksOf(scale, { from: 600, to: 700 }, 160).map(({ label }) => label)).toEqual(['600 ms', '650 ms', '700 ms'])
  })

  it.each([900, 1_100, 2_100, 3_250, 5_100, 11_000, 64_000, 400_000])('of %i ms are two or more on a phone', (to) => {
    const scale = createScale([{ from: 0, to }], { from: 0, to })
    expect(ticksOf(scale, { from: 0, to: scale.length }, 110).length).toBeGreaterThan(1)
  })

  it('go on after a break as if there was none', () => {
    const scale = createScale(
      [
        { from: 0, to: 1_500 },
        { from: hour, to: hour + 1_500 },
      ],
      { from: 0, to: hour + 1_500 },
    )
    const ticks = ticksOf(scale, rangeOf(scale, undefined), 160)
    expect(ticks.map(({ label }) => label)).toEqual(['0', '1 s', '2 s', '3 s'])
    expect(timeAt(scale, ticks[2]!.position)).toBeCloseTo(hour + 500)
  })

  it.each([
    [0, '0'],
    [1_500, '1.5 s'],
    [150_000, '2 m 30 s'],
    [3_900_000, '1 h 5 m'],
    [300_100, '300.1 s'],
    [3_903_000, '65 m 3 s'],
  ])('%i ms reads %s', (ms, label) => expect(tickLabel(ms)).toBe(label))
})
