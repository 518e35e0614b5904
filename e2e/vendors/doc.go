// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package vendors compares what the plugin analysis asks of Datadog and Google Cloud with what the clients of the
// vendors ask, and gives it answers of the vendors' types. It is a module that nothing else requires, because
// the clients are large. What it asks of CloudWatch is compared in the plugin's tests: the plugin uses that client.
package vendors
