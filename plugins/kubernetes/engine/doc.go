// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package engine is what both plugins for Kubernetes share: the parts that load manifests, run stages, and report live
// states and plan previews, and the plan of the stages. What differs between the plugins stays with them: the deploy
// targets that are used, the names of the stages and the words of errors.
//
// A plugin embeds an Engine and a StagePlan, whose methods are those that piped calls of each plugin. Close ends the
// connections to clusters and the processes that render charts.
package engine
