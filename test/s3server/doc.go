// Package s3server gives tests an S3 server of their own: versitygw, a real one,
// built by make into .tools from its Go module, with a folder behind it; or
// gofakes3 in the process of the test, which forgives more.
package s3server
