// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import "os/user"

// Commander returns how a user of this machine appears in logs and deployments.
func Commander() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "pipedeck"
}
