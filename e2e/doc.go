// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e plays stories of users: it runs the built programs against the embedded cluster,
// in a real terminal where there is one in the story, and looks at what the user would see.
//
// The stories have the build tag e2e and need PIPEDECK_BIN, the directory that `make build` fills;
// `make e2e` provides both. They wait for events and states, and never for time to pass.
package e2e
