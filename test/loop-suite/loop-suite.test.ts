import { aiSdkV3, aiSdkV4 } from './adapters/ai-sdk.ts'
import { langChainInBlocks, langChainInTexts } from './adapters/langchain.ts'
import { llamaIndex } from './adapters/llama-index.ts'
import { scripted } from './adapters/scripted.ts'
import { wires } from './adapters/wire.ts'
import { loopSuite } from './loop-suite.ts'

for (const adapter of [scripted, aiSdkV4, aiSdkV3, ...wires, langChainInTexts, langChainInBlocks, llamaIndex]) loopSuite(adapter)
