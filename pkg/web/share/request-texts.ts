import type { RequestTexts } from '../design/request-id.tsx';
import { t } from '../text/problems.ts';

export const requestTexts: RequestTexts = {
  request: () => t('request'),
  copy: () => t('request.copy'),
  copyLabel: () => t('request.copyLabel'),
  copied: () => t('request.copied'),
  selected: () => t('request.selected'),
};
