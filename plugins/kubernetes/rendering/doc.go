// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package rendering holds what pipedeck and the program of the kubernetes plugin say to each other: for init, which
// applications to render and which objects they have; for validate, which rules of health cannot work. It imports
// nothing, so that pipedeck stays small: the libraries that render and compile are in the plugin.
//
// To render, the program reads one Request from standard input and writes a Rendered for each application to standard
// output, as JSON, in the order of the request. Nothing is fetched from the network.
package rendering
