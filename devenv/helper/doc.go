// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package helper lets the program pipedeck-more do what pipedeck is compiled without the libraries for: clusters of
// kind and of the user's kubeconfig, archives of images, addresses of applications. The first start shows the UI
// earlier by this: pipedeck-more is compiled behind it.
//
// A Helper starts the program when it is needed, as a child that shares a socket with it, and ends it when nothing has
// been asked for a while, and with Close. A helper whose pipedeck is gone ends at once, as if it had been killed
// together with it. Package server is the other end. Errors of calls are those that the same code would return in this
// process, also for errors.Is and errors.As, as far as package cluster has them.
//
// An environment has one Helper; `pipedeck down` makes another one for the clusters of an environment that has ended.
package helper
