// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package share has the flags with which commands let other people watch an environment, and what serves them while
// the command runs. Start opens every address before the command begins its work, so that a mistake ends it early.
// Close returns when nothing is served any more. A nil Share serves nothing.
package share
