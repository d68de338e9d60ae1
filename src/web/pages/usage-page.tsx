import type { UsageGrouping } from '../../contracts/index.ts'
import { lazy } from '../ui/lazy.tsx'
import { PageFrame } from './page-frame.tsx'

const UsageView = lazy(() => import('./usage-view.tsx').then(({ UsageView }) => UsageView))

/** What was used, and what is left. */
export const UsagePage = ({ by }: { readonly by: UsageGrouping }) => (
  <PageFrame title="Usage">
    <UsageView by={by} />
  </PageFrame>
)
