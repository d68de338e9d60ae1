import { render } from 'preact'
import './styles/tokens.css'
import './styles/base.css'
import './styles/sidebar.css'
import './styles/shell.css'
import './styles/conversation.css'
import './styles/cards.css'
import './styles/markdown.css'
import './styles/composer.css'
import './styles/diff.css'
import './styles/approvals.css'
import './styles/timeline.css'
import './styles/timeline-details.css'
import './styles/model-request.css'
import './styles/agents.css'
import './styles/pages.css'
import './styles/palette.css'
import './styles/demo.css'
import './styles/tones.css'
import { App } from './shell/app.tsx'
import { connect } from './state/connection.ts'
import { notify } from './state/notifications.ts'
import { createPage, PageProvider } from './state/page.ts'
import { tick } from './state/tick.ts'

const page = createPage()
connect(page)
tick(page)
notify(page)

const root = document.getElementById('app')
if (root)
  render(
    <PageProvider value={page}>
      <App />
    </PageProvider>,
    root,
  )
