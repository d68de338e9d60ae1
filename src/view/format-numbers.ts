import type { Cost, Usage } from '../contracts/index.ts'
import { groupDigits } from '../util/group-digits.ts'
import { type Times, workOf } from './waiting.ts'

/** `82 ms`, `1.43 s`, `2 m 05 s`. */
export function duration(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`
  if (ms < 59_995) return `${(ms / 1000).toFixed(2)} s`
  return minutes(Math.round(ms / 1000))
}

/** A running time, coarser the longer it is: `0.4 s`, `12 s`, `2 m 05 s`, `3 h 20 m`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, ms) / 1000
  if (seconds < 10) return `${(Math.floor(seconds * 10) / 10).toFixed(1)} s`
  return seconds < 60 ? `${Math.floor(seconds)} s` : minutes(Math.floor(seconds))
}

/** `1.20 s`, or with waiting time `1.20 s work · 49 s waiting`. */
export function workTime(times: Times, format = duration): string {
  const waiting = waitingText(times)
  const work = format(workOf(times))
  return waiting === '' ? work : `${work} work · ${waiting}`
}

/** `49 s waiting`; empty if there was none. */
export function waitingText({ waitedMs = 0 }: Pick<Times, 'waitedMs'>): string {
  const text = waitingTime(waitedMs)
  return text === '' ? '' : `${text} waiting`
}

/** `49 s`; empty for less than `elapsed` shows. */
export const waitingTime = (ms: number): string => (ms < 100 ? '' : elapsed(ms))

function minutes(seconds: number): string {
  const two = (n: number): string => String(n).padStart(2, '0')
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${two(seconds % 60)} s`
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} m`
}

/** `2026-03-01 14:05 UTC`. */
export const timeText = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`

/** `120 → 46`; `~` marks an estimate. */
export function tokens({ input, output, estimated }: Pick<Usage, 'input' | 'output' | 'estimated'>): string {
  return `${estimated ? '~' : ''}${compact(input)} → ${compact(output)}`
}

/** `22.9k in · 933 out`; `~` marks an estimate. */
export const tokenWords = ({ input, output, estimated }: Pick<Usage, 'input' | 'output' | 'estimated'>): string =>
  `${estimated ? '~' : ''}${compact(input)} in · ${compact(output)} out`

function compact(n: number): string {
  if (n < 10_000) return String(n)
  return n < 999_950 ? `${(n / 1000).toFixed(1)}k` : `${(n / 1_000_000).toFixed(1)}M`
}

/** `9,000`. */
export const grouped = (n: number): string => groupDigits(Math.round(n))

/** `812 B`, `1.2 KB`, `3.4 MB`. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`
  const kilobytes = bytes / 1024
  return kilobytes < 1023.95 ? `${kilobytes.toFixed(1)} KB` : `${(kilobytes / 1024).toFixed(1)} MB`
}

/** `$0.42`; empty if free. */
export function price(cost: Cost): string {
  if (cost === 'unknown') return 'cost unknown'
  if (cost === 0) return ''
  if (cost < 0.0001) return '< $0.0001'
  return `$${cost < 0.01 ? cost.toPrecision(2) : cost.toFixed(2)}`
}
