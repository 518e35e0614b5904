// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package resolve finds what the words of a command line name: applications, deployments, stages and plugins, each by
// its name or id, or by a beginning of either that no other one has. All commands read their arguments here.
//
// A word that names one thing as a whole wins over those whose names begin with it. Errors are wrong usage: a word that
// fits several things lists the command for each with what distinguishes it, and a word that fits none lists the
// nearest names.
package resolve
