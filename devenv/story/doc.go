// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package story reads stories: files that say, step by step, what `pipedeck demo` shows on a real environment. The
// stories that come with pipedeck are such files, too, so that a speaker can copy and change one.
//
// A story changes only what was created for it: the sample repository and the cluster of its environment. Parse finds
// all mistakes of a file, each with its line and column. It rehearses the edits on the files of the sample, so that a
// misspelled file, text or application is found before anything is started. It reads nothing but the content and the
// samples that it is given.
package story
