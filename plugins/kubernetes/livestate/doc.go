// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package livestate knows what runs in the clusters, and how it differs from what was deployed.
//
// It watches the kinds that applications use, and what controllers make below them, once for all applications of a
// cluster. A question is answered from memory, for all deploy targets of an application at once; nothing is listed
// again while nothing changes. Definitions of custom kinds are watched, too, so that a kind which comes or goes is
// noticed. Drift is judged in two steps: fields of Git that differ from the live object make a suspicion, and a dry run
// of the apply, which knows every default and every normalization, confirms or drops it. Values of Secrets are replaced
// by keyed hashes before they are kept, so that they can be compared and never shown.
//
// The plugin calls it. It fails when the cluster does not answer in time or does not let a kind be listed.
package livestate
