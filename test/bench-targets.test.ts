import { describe, expect, it } from 'vitest'
import { chart, resultsChart } from '../bench/lib/chart.mjs'
import { assess, type Measurement, type Raw, targets, targetsTable } from '../bench/lib/targets.mjs'

const at = (run: number, ...mins: number[]): Measurement[] => mins.map((min) => ({ run, min, median: min * 2 }))
const toBare = { peer: 'troupe', workload: 'w1', over: 'bare', limit: 4 }
const verdict = (raw: Raw, target = toBare) => {
  const [only] = assess(raw, [target])
  return only && { status: only.status, ratio: only.ratio, base: only.base?.peer }
}

describe('a target', () => {
  it('compares the minimums over the rounds of one run', () => {
    expect(assess({ bare: { w1: at(1, 3, 2, 5) }, troupe: { w1: at(1, 9, 8, 10) } }, [toBare])).toEqual([
      {
        target: toBare,
        status: 'met',
        ratio: 4,
        medianRatio: 3,
        own: { min: 8, median: 18 },
        base: { peer: 'bare', workload: 'w1', min: 2, median: 6 },
      },
    ])
  })

  it('is missed above its limit', () => {
    expect(verdict({ bare: { w1: at(1, 2) }, troupe: { w1: at(1, 8.1) } })).toEqual({ status: 'missed', ratio: 4.05, base: 'bare' })
  })

  it('that says below is missed at its limit', () => {
    const raw = { bare: { w1: at(1, 2) }, troupe: { w1: at(1, 2) } }
    expect(verdict(raw, { ...toBare, limit: 1 })?.status).toBe('met')
    expect(verdict(raw, { ...toBare, limit: 1, below: true } as typeof toBare)?.status).toBe('missed')
  })

  it('never mixes two runs, and takes the newest that can tell', () => {
    const raw = { bare: { w1: [...at(1, 2), ...at(2, 4)] }, troupe: { w1: [...at(1, 20), ...at(2, 10), ...at(3, 1)] } }
    expect(verdict(raw)).toEqual({ status: 'met', ratio: 2.5, base: 'bare' })
    expect(verdict({ bare: { w1: at(1, 2) }, troupe: { w1: at(2, 1) } })).toEqual({
      status: 'not measured',
      ratio: undefined,
      base: undefined,
    })
  })

  it('is not measured before its row or its reference is', () => {
    expect(verdict({})?.status).toBe('not measured')
    expect(verdict({ troupe: { w1: at(1, 1) } })?.status).toBe('not measured')
    expect(verdict({ bare: { w1: at(1, 1) } })?.status).toBe('not measured')
  })

  it('fails where the newest run of its row failed, whatever an older one said', () => {
    const raw = { bare: { w1: at(1, 2) }, troupe: { w1: [...at(1, 2), { run: 2, error: 'Error: no' }] } }
    expect(assess(raw, [toBare])).toEqual([{ target: toBare, status: 'failed', error: 'Error: no' }])
  })

  it('against the fastest peer leaves out the bare loops and ourselves, and needs every peer', () => {
    const target = { ...toBare, over: 'the fastest peer', limit: 0.5 }
    const raw = {
      bare: { w1: at(1, 1) },
      slow: { w1: at(1, 90) },
      fast: { w1: at(1, 30) },
      troupe: { w1: at(1, 12) },
      'troupe-sqlite': { w1: at(1, 20) },
    }
    expect(verdict(raw, target)).toEqual({ status: 'met', ratio: 0.4, base: 'fast' })
    expect(verdict({ ...raw, fast: { w1: at(2, 30) } }, target)?.status).toBe('not measured')
  })

  it('can compare a row with itself, and start-up by its time', () => {
    const growth = { peer: 'troupe', workload: 'w6_800', over: 'troupe', overWorkload: 'w6_50', limit: 1.4 }
    expect(verdict({ troupe: { w6_50: at(1, 10), w6_800: at(1, 15) } }, growth)).toEqual({ status: 'missed', ratio: 1.5, base: 'troupe' })
    const start = { ...toBare, workload: 'w5', limit: 3 }
    expect(verdict({ bare: { w5: [{ run: 1, ms: 30 }] }, troupe: { w5: [{ run: 1, ms: 60 }] } }, start)).toEqual({
      status: 'met',
      ratio: 2,
      base: 'bare',
    })
  })
})

describe('the report', () => {
  const raw = {
    bare: { w1: at(1, 2), w4: at(1, 20) },
    troupe: { w1: at(1, 9), w4: at(1, 40) },
    broken: { w1: [{ run: 1, error: 'Error: x' }] },
  }
  const peers = { bare: { title: 'bare & simple' }, troupe: { title: 'Troupe' }, broken: { title: 'broken' } }

  it('has a row for each target', () => {
    const rows = targetsTable(raw, peers).split('\n')
    expect(rows).toHaveLength(2 + targets.length)
    expect(rows).toContain('| Troupe | w1 | at most 4× bare & simple | 9.00 µs ÷ 2.00 µs | 4.50× (medians 4.50×) | **missed** |')
    expect(rows).toContain('| Troupe | w4 | at most 3× bare & simple | 40.0 ms ÷ 20.0 ms | 2.00× (medians 2.00×) | met |')
  })

  it('draws equal ratios as equal lengths, the shortest on top', () => {
    const svg = chart([{ title: 'T', rows: [1, 10, 100].map((value) => ({ label: `<${value}>`, value, ours: value === 10 })) }])
    const widths = [...svg.matchAll(/<rect x="\d+" y="\d+" width="([\d.]+)"/g)].map(([, width]) => Number(width))
    expect(widths).toEqual([1, 245, 490])
    expect(svg).toContain('&lt;10&gt;')
  })

  it('draws what was measured and leaves out what failed', () => {
    expect(resultsChart(raw, peers)).toContain('bare &amp; simple')
    expect(resultsChart(raw, peers)).not.toContain('broken')
    expect(resultsChart({}, peers)).toBeUndefined()
  })

  it('draws rows of the server: the least of all rounds, and multiples of the simplest program', () => {
    const base = (value: number) => ({ title: 'bare Node', value })
    const svg = resultsChart({}, peers, {
      'start of a session, p95': [
        { value: 30, unit: 'ms' },
        { value: 20, unit: 'ms' },
      ],
      'troupe run': [
        { value: 150, unit: 'ms', base: base(30) },
        { value: 160, unit: 'ms', base: base(20) },
      ],
    })
    for (const text of ['start of a session, p95', '20.0', 'troupe run ÷ bare Node', '7.50']) expect(svg).toContain(`>${text}</text>`)
  })
})
