// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package session has an application ready to be worked with at one deploy target: the program is found and its version
// checked, the backend initialised and the workspace selected. It makes plans, applies saved ones and reads states. The
// stages, the live state and the plan preview of the plugin open sessions; all that fails does so before anything
// has changed, except Apply.
package session
