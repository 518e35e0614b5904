// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package demo plays stories on a running environment: a Play shows the captions of a story one after another, awaits
// what each step awaits, and makes its change: a commit, an approval, a patch of the cluster. The command starts the
// environment, shows what happens there, and removes it.
//
// A Play ends at the first step that fails, with an *exit.Error that names the step, its line in the file of the story,
// and what was awaited. It changes nothing besides the sample repository, the cluster and the plugin processes of its
// environment.
package demo
