import DatabaseCore
import FileRecords
import Transport

/// What the file service has counted.
struct FileFigures {
    var uploadedCount = 0
    var uploadedByteCount: Int64 = 0
    var downloadedCount = 0
    /// Pieces that a worker has read for downloads, since they were not in the memory of the system.
    var diskReadCount = 0
    /// Requests that were refused, for any reason.
    var refusedCount = 0
    /// Those of them that rules denied.
    var deniedCount = 0
    /// Blobs that could not be opened or read.
    var missingBlobCount = 0
    var collectedCount = 0
}

extension FileService {
    func addMetrics(to metrics: inout Metrics) {
        let total = store.catalog.total
        for (name, help, value) in [
            ("hearth_files", "Files now.", Int(total.objectCount)),
            ("hearth_file_bytes", "Bytes of all files.", Int(total.byteCount)),
            ("hearth_file_blobs", "Different contents that files have.", store.catalog.blobCount),
            ("hearth_file_uploads_running", "Uploads whose bytes come in now.", uploadCount),
            ("hearth_file_downloads_running", "Downloads whose bytes leave now.", downloadCount),
            (
                "hearth_file_requests_waiting", "Requests for files that wait for their turn.",
                line.count
            ),
            (
                "hearth_files_read_only",
                "1 while no file is stored since the disk has failed, else 0.",
                disk.isReadOnly ? 1 : 0
            ),
        ] { metrics.gauge(name, help, value) }
        for (name, help, value) in [
            ("hearth_file_uploads_total", "Files stored.", figures.uploadedCount),
            (
                "hearth_file_upload_bytes_total", "Bytes of files stored.",
                Int(figures.uploadedByteCount)
            ),
            ("hearth_file_downloads_total", "Downloads begun.", figures.downloadedCount),
            (
                "hearth_file_disk_reads_total",
                "Pieces of files read from the disk for downloads, since they were not in memory.",
                figures.diskReadCount
            ),
            ("hearth_file_refusals_total", "Requests for files refused.", figures.refusedCount),
            ("hearth_file_denials_total", "Those that rules denied.", figures.deniedCount),
            (
                "hearth_file_missing_blobs_total",
                "Downloads that failed since the bytes of their file are missing or cannot be read.",
                figures.missingBlobCount
            ),
            (
                "hearth_file_blobs_collected_total",
                "Contents removed since no file has them any more.", figures.collectedCount
            ),
        ] { metrics.counter(name, help, value) }
        metrics.count(
            shadow?.report.totals ?? ShadowTotals(),
            as: "hearth_file_shadow_decisions_total",
            "Requests for files that the shadow rules decided, by how that compares."
        )
    }
}
