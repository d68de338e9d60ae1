// Figures of the server and the command line: lines for people, or with --rows for run.mjs.
const forRun = process.argv.includes('--rows')

export const print = (text) => console[forRun ? 'error' : 'log'](text)

// Less is better. base: the same work by something simpler, { title, value }.
export function row(name, value, unit, base) {
  if (forRun) console.log(`@@${JSON.stringify({ name, value, unit, base })}`)
  else console.log(`${name}: ${figure(value)} ${unit}${base ? `, ${base.title} ${figure(base.value)} ${unit} (${figure(value / base.value)}×)` : ''}`)
}

// Of all rounds: the least value, and the least of the base.
export function leastOf(rounds) {
  const [{ unit, base }] = rounds
  const least = (values) => Math.min(...values)
  return { unit, value: least(rounds.map((r) => r.value)), base: base && { title: base.title, value: least(rounds.map((r) => r.base.value)) } }
}

export function rowsTable(rows) {
  const lines = Object.entries(rows).map(([name, rounds]) => {
    const { unit, value, base } = leastOf(rounds)
    return `| ${name} | ${figure(value)} ${unit} | ${base ? `${figure(base.value)} ${unit} (${base.title})` : '–'} | ${base ? `${figure(value / base.value)}×` : '–'} |`
  })
  return ['| what | Troupe | the simplest program | ratio |', '|---|---|---|---|', ...lines].join('\n')
}

export const figure = (x) => (x >= 100 ? Math.round(x).toLocaleString('en') : x >= 10 ? x.toFixed(1) : x.toFixed(2))
