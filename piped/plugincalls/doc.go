// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package plugincalls remembers the last calls between piped and its plugins, for users who ask.
//
// The interceptors of a Log see every call in both directions. What is kept is bounded in entries and in bytes: each
// plugin has room for the calls of deployments, for other calls, and for those that piped makes again and again; where
// the room is used up, the oldest calls go. A call that runs stays. Secret values are masked before a message is kept,
// and secrets that are known by their form before it is shown; JSON is made for those who ask only.
//
// Nothing that fails here fails a call. The agent connects a Log to the plugin host, the plugin service and the control
// plane.
package plugincalls
