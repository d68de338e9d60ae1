import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

interface Found {
  readonly violations: readonly {
    readonly id: string
    readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
  }[]
}

/** Rule and element of each violation. In the second theme only contrast can differ. */
export async function violations(page: Page): Promise<readonly string[]> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe)
  const found: string[] = []
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    const only = colorScheme === 'dark' ? "runOnly: ['color-contrast']" : ''
    const result = (await page.evaluate(`axe.run(document, { resultTypes: ['violations'], ${only} })`)) as Found
    for (const { id, nodes } of result.violations)
      found.push(...nodes.map(({ html, failureSummary }) => `${colorScheme} ${id}: ${html.slice(0, 200)} ${failureSummary.slice(0, 300)}`))
  }
  return found
}
