// Takes pictures of a scene while the web chat is built: `npx node scripts/look.ts FOLDER [WIDTH…]`.
import { mkdirSync } from 'node:fs'
import { openBrowser } from '../test/browser.ts'
import { watchPage, webScene } from '../test/web/web-scene.ts'

const [folder = 'pictures', ...widths] = process.argv.slice(2)
mkdirSync(folder, { recursive: true })
const scene = await webScene()
const browser = await openBrowser()
const id = await scene.runtime.sessions.start('A weekend in Oslo by train, not expensive', {
  agent: 'trip',
  principal: { kind: 'local', id: 'local' } as never,
})
for (const colorScheme of ['light', 'dark'] as const) {
  for (const width of widths.length > 0 ? widths.map(Number) : [1440]) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme })
    const problems = watchPage(page, scene.url)
    await page.goto(scene.address)
    await page.waitForTimeout(500)
    await page.screenshot({ path: `${folder}/new-${width}-${colorScheme}.png` })
    await page.goto(`${scene.url}/#/sessions/${id}`)
    await page.waitForTimeout(1_500)
    await page.screenshot({ path: `${folder}/session-${width}-${colorScheme}.png` })
    console.log(width, colorScheme, problems)
    await page.close()
  }
}
await browser.close()
await scene.close()
