// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

const installGit = "sudo apt-get install git (or as your distribution does)"
