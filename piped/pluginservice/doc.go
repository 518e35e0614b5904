// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package pluginservice serves the calls that plugins make to piped: PipeCD v1's PluginService, and our
// StageCommandService on the same port, which pushes approvals and skips instead of being polled.
//
// It listens on 127.0.0.1 only, checks every request against the rules of its message, forwards logs,
// metadata and shared objects to the control plane, and answers from memory what it can. Metadata of one
// deployment is saved in the order in which it arrives, and waits for a control plane that is away; it is
// bounded for each value, stage, plugin and deployment (metadatabounds.go), and a plugin that exceeds a bound
// gets ResourceExhausted with a message that names it. Plugins see the control plane's own error codes when a forwarded
// call fails.
//
// A guarded Server lets a plugin touch only what the plugin host has put into its hands (permission.go). Who
// calls is known for plugins with a private link; those on loopback share what they hold, and on Linux other
// users are refused there.
//
// The agent runs the Server; the scheduler notifies the Registry which deployments and stages are alive.
package pluginservice
