// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package compat runs plugins that are written for PipeCD's own SDK, github.com/pipe-cd/piped-plugin-sdk-go, on
// the SDK of pipedeck. Names and shapes are those of that SDK, so a plugin changes its import:
//
//	import sdk "github.com/pipedeck/pipedeck/plugins/sdk/compat"
//
// It is for plugins that have stages or deploy; live state and plan previews need the SDK itself. [Wrap] gives the
// plugin of pipedeck's SDK, for tests with sdktest and for moving on step by step; docs/from-pipecd-sdk.md has the
// names on both sides. What the plugin gets by it: log lines at once, commands when they are given, stages that end
// without a pause, and the checks of pipedeck plugin test.
package compat
