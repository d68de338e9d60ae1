import { mkdirSync } from 'node:fs'
import type { Chat } from './chat-page.ts'

const folder = process.env.TROUPE_PICTURES
if (folder) mkdirSync(folder, { recursive: true })

/** With `TROUPE_PICTURES=FOLDER`: pictures of what is shown, for people to look at. */
export async function picture({ page }: Pick<Chat, 'page'>, name: string): Promise<void> {
  if (!folder) return
  const before = page.viewportSize() ?? { width: 1440, height: 900 }
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ] as const)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.setViewportSize({ width, height })
      await page.emulateMedia({ colorScheme })
      await page.screenshot({ path: `${folder}/${name}-${width}-${colorScheme}.png` })
    }
  await page.setViewportSize(before)
  await page.emulateMedia({ colorScheme: 'light' })
}
