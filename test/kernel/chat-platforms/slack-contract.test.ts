import { platformContract } from './platform-contract.ts'
import { slackKinds } from './platform-scene.ts'

platformContract(slackKinds)
